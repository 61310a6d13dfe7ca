import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { sourceOf, VALIDATORS } from './validators.js'

describe('generated validators', () => {
  for (const [file, schemas] of Object.entries(VALIDATORS)) {
    it(`${file} is what its schemas say (else: npm run generate)`, async () => {
      const path = fileURLToPath(new URL(`../../${file}`, import.meta.url))
      await expect(sourceOf(schemas)).toMatchFileSnapshot(path)
    })
  }
})
