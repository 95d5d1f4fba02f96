"""Speed and size: every verb beside a bare durable commit and darwin-memo, in the same run."""
