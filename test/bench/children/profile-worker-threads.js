/**
 * Makes `--cpu-prof` apply to worker threads too: it removes the `execArgv` option, with which the worker of a store
 * starts without Node's options. Imported for its effect.
 */
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
