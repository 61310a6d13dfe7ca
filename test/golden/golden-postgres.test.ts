import { expect, it } from 'vitest'
import { goldenFiles } from './golden-files.js'
import { POSTGRES } from './postgres-stores.js'

for (const factory of POSTGRES) goldenFiles(factory)

it.skipIf(POSTGRES.length === 0)('every golden file runs on PostgreSQL', () => {
  expect(POSTGRES.map(({ name }) => name)).toEqual(['PostgreSQL'])
})
