import { expect, it } from 'vitest'
import { goldenFiles, NAMES } from './golden-files.js'
import { STORES } from './stores.js'

for (const factory of STORES) goldenFiles(factory)

it('more than 40 golden files exist', () => {
  expect(NAMES.length).toBeGreaterThan(40)
})
