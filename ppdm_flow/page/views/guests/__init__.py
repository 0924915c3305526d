"""What guests see: released tables page by page, their data sheets, reports and files."""
