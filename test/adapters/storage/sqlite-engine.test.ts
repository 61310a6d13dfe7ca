import { describe, it } from 'vitest'
import { storeConformance } from '../../../src/testkit/conformance/index.js'
import { engineHarness } from './sqlite-engine-store.js'

storeConformance(
  { describe, it },
  engineHarness('the SQLite engine, each transaction of which is rolled back once'),
)
