"""The ports that notebooks, exporters and servers of models listen on unless told otherwise."""

from __future__ import annotations

SERVICES = {
    4040: "Spark",
    5000: "MLflow",
    6006: "TensorBoard",
    7860: "Gradio",
    8000: "vLLM, Triton or another server",
    8001: "Triton (gRPC)",
    8002: "Triton (metrics)",
    8080: "a model server or notebook",
    8265: "Ray dashboard",
    8501: "TensorFlow Serving or Streamlit",
    8787: "Dask dashboard",
    8888: "Jupyter",
    9400: "dcgm-exporter",
    9835: "gputui export",
    11434: "Ollama",
    30000: "SGLang",
}
"""What listens there, by the port's number; from each program's own documentation."""

RUNS_CODE = frozenset({8265, 8787, 8888})
"""Those that run whatever code they are sent: Ray jobs (CVE-2023-48022), Dask, notebooks."""
