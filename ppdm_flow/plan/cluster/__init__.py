"""What a run on a cluster will do, said before it: where each part of it is worked on, and what it takes."""
