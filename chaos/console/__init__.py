"""The facilitator's screen of a game day: ``gpuchaos console``."""
