/** The first thing that a host does with us. */
import { answerParent } from '../processes.js'

const started = performance.now()
const { createHookswitch, memoryStore } = await import('hookswitch')
createHookswitch({ store: memoryStore() })
const ms = performance.now() - started

answerParent({ ms: () => ms })
