"""Object stores: objects are copied before they are read, and a run is published by writing its manifest last."""
