#!/usr/bin/env node
import { main } from './main.js'

// A closed output pipe must not end the process in the middle of a drain.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

void main(process)
