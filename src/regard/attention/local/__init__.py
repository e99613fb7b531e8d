"""Local windows, for any score: local-m and local-p of Luong, Pham and Manning 2015."""
