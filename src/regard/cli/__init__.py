"""The command `regard`: one thin file for each verb; parse, call, print."""
