/** The built package, as programs load it that cannot load ES modules. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../house/sources.js'

/** Those that `require` loads as ES modules. */
const LOADED_AS_ESM = ['./simulator', './cli']

/** Requires every other subpath where `require` takes no ES modules, and the package `nanoid` cannot be found. */
const REQUIRE_ALL = `
  const { exports } = require('hookswitch/package.json')
  const { _resolveFilename } = module.constructor
  module.constructor._resolveFilename = (name, ...rest) => {
    if (name === 'nanoid') throw new Error('nanoid is an ES module')
    return _resolveFilename(name, ...rest)
  }
  const loadedAsEsm = ${JSON.stringify(LOADED_AS_ESM)}
  const names = Object.keys(exports).filter((name) => !name.endsWith('.json') && !loadedAsEsm.includes(name))
  for (const name of names) require('hookswitch' + name.slice(1))
  const { createHookswitch, memoryStore } = require('hookswitch')
  const hs = createHookswitch({ store: memoryStore() })
  ;(async () => {
    await hs.start()
    const { id, apiKey } = await hs.accounts.create({ name: 'Acme', realm: 'acme.example' })
    const { token } = await hs.auth.signIn({ apiKey })
    console.log(names.length, token.length, (await hs.auth.authenticate(token)).accountId === id)
    await hs.close()
  })()
`

/** Opens a SQLite store with a Node that has no SQLite, where no package for it is installed. */
const WITHOUT_DRIVER = `
  const { _resolveFilename } = module.constructor
  module.constructor._resolveFilename = (name, ...rest) => {
    if (name === '@photostructure/sqlite') throw Object.assign(new Error(name), { code: 'MODULE_NOT_FOUND' })
    return _resolveFilename(name, ...rest)
  }
  process.getBuiltinModule = () => undefined
  const { createHookswitch } = require('hookswitch')
  const { sqliteStore } = require('hookswitch/sqlite')
  const path = require('node:os').tmpdir() + '/hookswitch-without-driver.db'
  const open = async () => createHookswitch({ store: sqliteStore({ path, inThread: true }) }).start()
  open().catch(({ code, message }) => console.log(code + ': ' + message))
`

const run = (program: string, ...options: string[]) =>
  execFileSync(process.execPath, [...options, '--eval', program], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: 'pipe',
  })

describe('the package', () => {
  it('is loaded by a `require` that takes no ES modules, as that of Jest with its defaults', () => {
    const output = run(REQUIRE_ALL, '--no-experimental-require-module')
    const { exports } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8'))
    const subpaths = Object.keys(exports).filter((name) => !name.endsWith('.json'))
    expect(output).toBe(`${subpaths.length - LOADED_AS_ESM.length} 43 true\n`)
  })

  it('has a simulator and a command line that `require` loads as ES modules', () => {
    const program = `
      const { simulate } = require('hookswitch/simulator')
      const { serve } = require('hookswitch/cli')
      console.log(typeof simulate, typeof serve)
    `
    expect(run(program)).toBe('function function\n')
    expect(() => run(program, '--no-experimental-require-module')).toThrow('ERR_REQUIRE_ESM')
  })

  it('names the package that an older Node needs for SQLite', () => {
    expect(run(WITHOUT_DRIVER)).toBe(
      'InvalidOption: sqliteStore has no driver. Node before 22.13 has no built-in SQLite: ' +
        'run `npm install @photostructure/sqlite@1`, or use a newer Node\n',
    )
  })
})
