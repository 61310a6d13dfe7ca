import { describe, it, vi } from 'vitest'
import { storeConformance } from '../../../src/testkit/conformance/index.js'
import { engineHarness } from './sqlite-engine-store.js'

// Ids, calls and lanes are indexed by hashes; here every hash is the same.
vi.mock('../../../adapters/storage/sqlite/hash-key.js', () => ({
  hashKey: () => 4_711,
  idHashKey: () => 4_711,
}))

storeConformance({ describe, it }, engineHarness('the SQLite engine while all hash keys collide'))
