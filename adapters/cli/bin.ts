#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'
import { main } from './main.js'

// Saves a fifth of the memory of a busy service (decision 95). `node --no-optimize-for-size …/bin.js` keeps Node's default.
if (!process.execArgv.some((flag) => flag.endsWith('optimize-for-size')))
  setFlagsFromString('--optimize-for-size')

// A closed output pipe must not end the process in the middle of a drain.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

void main(process)
