import { execFileSync } from 'node:child_process'
import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode, type HookswitchError } from 'hookswitch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { secretFor } from '../../../adapters/cli/secret.js'
import type { StoreChoice } from '../../../adapters/cli/store-choice.js'

const POSTGRES = {
  store: 'postgres',
  flag: '--postgres',
  connectionString: 'postgres://db/calls',
} satisfies StoreChoice
const SECRET = 'a secret of the environment'

let folder: string
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'secret-')))
})
afterEach(() => rm(folder, { recursive: true }))

async function refusalOf(choice: StoreChoice, env: Record<string, string>): Promise<HookswitchError> {
  const thrown = await secretFor(choice, env).then(
    () => undefined,
    (thrown) => thrown,
  )
  expect(errorCode(thrown)).toBe('InvalidOption')
  expect(thrown.message).toMatch(/^HOOKSWITCH_SECRET: [^\n]*$/)
  return thrown
}

describe('the secret of the environment', () => {
  it('is what it is, whatever the store', async () => {
    const file = { store: 'sqlite', path: join(folder, 'calls.db') } as const
    for (const choice of [POSTGRES, file, { store: 'memory' } as const]) {
      expect(await secretFor(choice, { HOOKSWITCH_SECRET: SECRET })).toBe(SECRET)
    }
  })

  it('may be missing where the store has one of its own, or needs none that lasts', async () => {
    expect(await secretFor({ store: 'sqlite', path: join(folder, 'calls.db') }, {})).toBeUndefined()
    expect(await secretFor({ store: 'memory' }, {})).toBeUndefined()
  })

  it('must be there with PostgreSQL: the refusal has a command that makes one', async () => {
    const { message } = await refusalOf(POSTGRES, {})
    const [, script = ''] = /: make one with node -p "(.+)"$/.exec(message) ?? []
    expect(execFileSync(process.execPath, ['-p', script], { encoding: 'utf8' })).toMatch(/^[0-9a-f]{64}\n$/)
  })

  it('is refused beside a file that has another key, without showing either', async () => {
    const path = join(folder, 'calls.db')
    const key = 'f'.repeat(64)
    await writeFile(path, '')
    await writeFile(`${path}.key`, `${key}\n`)
    const link = join(folder, 'link.db')
    await symlink(path, link)
    for (const named of [path, link]) {
      const { message } = await refusalOf({ store: 'sqlite', path: named }, { HOOKSWITCH_SECRET: SECRET })
      expect(message).toContain(`${path}.key`)
      expect(message).not.toContain(SECRET)
      expect(message).not.toContain(key)
      expect(await secretFor({ store: 'sqlite', path: named }, { HOOKSWITCH_SECRET: key })).toBe(key)
    }
  })
})
