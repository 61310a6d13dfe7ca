import { expect, it } from 'vitest'
import { goldenFiles, NAMES } from './golden-files.js'
import { STORES } from './stores.js'

for (const maker of STORES) goldenFiles(maker)

it('there are golden files', () => {
  expect(NAMES.length).toBeGreaterThan(40)
})
