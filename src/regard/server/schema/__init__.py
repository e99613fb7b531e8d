"""Requests and answers of the HTTP API as pydantic models: the contract that docs/reference/http-api.md describes."""
