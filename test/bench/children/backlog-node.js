/** A node that starts on what is there. Needs `--expose-gc`. Loads nothing of the package before it is told to. */
import { answerParent, sharedMicros, sleep } from '../processes.js'
import { deadSender } from './dead-sender.js'
import { startInstance } from './instance.js'

let hs

answerParent(
  {
    /** Starts, loading the package first; `dead`: nothing is answered. When that began, on the clock of all processes. */
    async start({ place, dead }) {
      const began = sharedMicros()
      hs = await startInstance(place, { maxPending: 10_000_000, ...(dead && { sender: deadSender() }) })
      return { began, startedMs: (sharedMicros() - began) / 1000 }
    },
    /** When it has come to rest. */
    async memory() {
      await sleep(1_000)
      for (let turn = 0; turn < 3; turn += 1) {
        globalThis.gc()
        await sleep(50)
      }
      return { rssMb: process.memoryUsage.rss() / 1e6 }
    },
  },
  () => hs?.close({ drainMs: 0 }),
)
