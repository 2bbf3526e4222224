"""Every operation of the service as a request, without sending it."""
