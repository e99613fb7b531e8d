"""Local windows: local-m and local-p of Luong, Pham and Manning 2015. `module.LocalM`, `LocalP`, for any score."""
