"""Lost quorums: whose log goes on, what it lacks, and the batch that names the new voters."""
