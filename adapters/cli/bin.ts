#!/usr/bin/env node
import { main } from './main.js'

// Whoever read our output may have gone: that is no reason to die in the middle of a drain.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

void main(process)
