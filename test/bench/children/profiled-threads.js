/** In a process that is profiled its threads are, too: that of a store takes none of Node's options by itself. */
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

if (process.execArgv.includes('--cpu-prof')) {
  const { Worker } = threads
  threads.Worker = class extends Worker {
    constructor(file, { execArgv: _, ...options }) {
      super(file, options)
    }
  }
  syncBuiltinESMExports()
}
