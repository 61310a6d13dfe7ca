/** The program, once the version of Node is known to be able to run it. */
import { main } from './main.js'
import { saveMemory } from './memory-flag.js'

// Saves a fifth of the memory of a busy service. `node --no-optimize-for-size …/bin.js` keeps Node's default.
saveMemory()

// A closed output pipe must not end the process in the middle of a drain.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

void main(process)
