"""From readings and events to grouped causes."""
