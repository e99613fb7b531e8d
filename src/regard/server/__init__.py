"""HTTP API `/api/v1` over trained models, and the studio page; started by `regard serve` and `regard studio`."""
