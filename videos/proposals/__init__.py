"""Sources of proposed boxes behind one protocol: OpenCV trackers, SAM 3, and boxes of a file. No Django."""
