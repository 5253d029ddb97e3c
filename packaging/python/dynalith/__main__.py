"""python -m dynalith: the server itself, in the place of Python."""
import os
import sys

from dynalith import find_binary

os.execv(find_binary(), ["dynalith", *sys.argv[1:]])
