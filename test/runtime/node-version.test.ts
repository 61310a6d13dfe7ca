import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkNodeVersion } from '../../src/runtime/node-version.js'

const root = new URL('../../', import.meta.url)
const { engines } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
const [, minimum = ''] = /^>=(\d+\.\d+)\.0$/.exec(engines.node) ?? []

describe('the version of Node', () => {
  it.each(['18.20.4', '16.0.0', '20.18.3'])('%s is refused', (version) => {
    expect(() => checkNodeVersion(version)).toThrow(
      `hookswitch needs Node ${minimum} or later, and this is Node ${version}`,
    )
  })

  it.each([`${minimum}.0`, '20.20.0', '22.0.0', '24.1.0', undefined])('%s is accepted', (version) => {
    checkNodeVersion(version)
  })

  it('is compared by the program too, which imports nothing before', () => {
    const program = readFileSync(new URL('adapters/cli/bin.ts', root), 'utf8')
    expect(program).toContain(`hookswitch needs Node ${minimum} or later`)
    expect(program).toContain(`major === ${minimum.split('.')[0]} && minor >= ${minimum.split('.')[1]}`)
    expect(program).not.toMatch(/^import /m)
  })
})
