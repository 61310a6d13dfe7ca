// @ts-check
/** A job: a process that runs the seeds it receives, with the flags of its command line. */
import { readFlags } from './flags.js'
import { runSeed } from './run-seed.js'

const { options, more } = await readFlags()
process.on('message', async (seed) => {
  const outcome = await runSeed(String(seed), options, more)
  process.send?.(outcome)
})
process.on('disconnect', () => process.exit())
