// @ts-check
/** One job of several: a process that runs the seeds it is handed, with the flags of the command line. */
import { readFlags } from './flags.js'
import { runSeed } from './run-seed.js'

const { options, more } = await readFlags()
process.on('message', async (seed) => {
  const outcome = await runSeed(String(seed), options, more)
  process.send?.(outcome)
})
process.on('disconnect', () => process.exit())
