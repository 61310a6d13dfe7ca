import { describe, it, vi } from 'vitest'
import { storeConformance } from '../../../src/store/conformance/index.js'
import { engineHarness } from './sqlite-engine-store.js'

// Ids, calls and lanes are found by numbers made of them; here all of them have the same.
vi.mock('../../../adapters/storage/sqlite/text-key.js', () => ({ textKey: () => 4_711, idKey: () => 4_711 }))

storeConformance({ describe, it }, engineHarness('the SQLite engine, while all keys collide'))
