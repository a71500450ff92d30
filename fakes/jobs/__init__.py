"""Jobs: their processes, what these print, and the scheduler that places them."""
