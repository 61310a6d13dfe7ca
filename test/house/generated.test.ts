import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { publishedConfigSchema } from '../../adapters/cli/config-schema.js'
import { clientOperations, OPERATIONS_FILE } from './client-operations.js'
import { httpReference, REFERENCE_FILE } from './http-reference.js'
import { SETTINGS_FILE, settingsReference } from './settings-reference.js'
import { ROOT } from './sources.js'
import { GENERATED_FILE, sourceOf, VALIDATORS } from './validators.js'

describe('generated files (`npm run generate` updates them)', () => {
  it('the validators match their schemas', async () => {
    await expect(sourceOf(VALIDATORS)).toMatchFileSnapshot(join(ROOT, GENERATED_FILE))
  })

  it('the HTTP reference matches the OpenAPI document', async () => {
    await expect(httpReference()).toMatchFileSnapshot(join(ROOT, REFERENCE_FILE))
  })

  it('the JSON Schema of configuration files matches the table of settings', async () => {
    const text = `${JSON.stringify(publishedConfigSchema(), null, 2)}\n`
    await expect(text).toMatchFileSnapshot(join(ROOT, 'adapters/cli/config.schema.json'))
  })

  it('the reference of settings matches the table of settings', async () => {
    await expect(settingsReference()).toMatchFileSnapshot(join(ROOT, SETTINGS_FILE))
  })

  it('the operations of the client match the OpenAPI document', async () => {
    await expect(clientOperations()).toMatchFileSnapshot(join(ROOT, OPERATIONS_FILE))
  })
})
