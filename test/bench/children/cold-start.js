/** Measures the import of the package and `createHookswitch` in a new process. */
import { handleRequests } from '../processes.js'

const started = performance.now()
const { createHookswitch, memoryStore } = await import('hookswitch')
createHookswitch({ store: memoryStore() })
const ms = performance.now() - started

handleRequests({ ms: () => ms })
