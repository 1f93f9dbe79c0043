"""The records of a new cluster: releases, feature levels, voters, credentials."""
