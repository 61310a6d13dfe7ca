/** A node that starts on a filled store. Needs `--expose-gc`. The package is loaded by `start`, not before. */
import { handleRequests, sharedMicros, sleep } from '../processes.js'
import { startInstance } from './instance.js'
import { createUnresponsiveSender } from './unresponsive-sender.js'

let hs

handleRequests(
  {
    /** Loads the package and starts. `beganMicros` is on the shared clock; `unresponsive`: requests get no response. */
    async start({ location, unresponsive }) {
      const beganMicros = sharedMicros()
      hs = await startInstance(location, {
        maxPending: 10_000_000,
        ...(unresponsive && { sender: createUnresponsiveSender() }),
      })
      return { beganMicros, startedMs: (sharedMicros() - beganMicros) / 1000 }
    },
    /** Memory once the node is idle. */
    async memory() {
      await sleep(1_000)
      for (let collection = 0; collection < 3; collection += 1) {
        globalThis.gc()
        await sleep(50)
      }
      return { rssMb: process.memoryUsage.rss() / 1e6 }
    },
  },
  () => hs?.close({ drainMs: 0 }),
)
