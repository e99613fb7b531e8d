"""Exercise 12: the last attentional vector is fed to the next step."""
