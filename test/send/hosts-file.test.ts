import { mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createHostsFileLookup, defaultHostsFile, parseHostsFile } from '../../src/send/hosts-file.js'

const MAX_BYTES = 1024 * 1024
const CHECK_INTERVAL_MS = 1_000

const parsed = (...lines: string[]) => Object.fromEntries(parseHostsFile(lines.join('\n')))

describe('parseHostsFile', () => {
  it('reads nothing from an empty file, empty lines and comments', () => {
    expect(parsed('')).toEqual({})
    expect(parsed('', '   ', '\t', '# 10.0.0.1 a', '  # 10.0.0.1 b')).toEqual({})
  })

  it('gives an address to every name of its line', () => {
    expect(parsed('10.0.0.1 a b.test c')).toEqual({
      a: ['10.0.0.1'],
      'b.test': ['10.0.0.1'],
      c: ['10.0.0.1'],
    })
  })

  it('collects the addresses of a name in the order of the file', () => {
    expect(parsed('10.0.0.2 a', '::1 a b', '10.0.0.1 a')).toEqual({
      a: ['10.0.0.2', '::1', '10.0.0.1'],
      b: ['::1'],
    })
  })

  it('accepts any white space around and between the fields, and both line ends', () => {
    const hosts = parseHostsFile('  10.0.0.1\t \ta  b  \r\n\t10.0.0.2 c\r\n10.0.0.3 d')
    expect(Object.fromEntries(hosts)).toEqual({
      a: ['10.0.0.1'],
      b: ['10.0.0.1'],
      c: ['10.0.0.2'],
      d: ['10.0.0.3'],
    })
  })

  it('ends a line at its first comment sign, even inside a word', () => {
    expect(parsed('10.0.0.1 a # b # c', '10.0.0.2 d#e f')).toEqual({ a: ['10.0.0.1'], d: ['10.0.0.2'] })
  })

  it('compares names without case and final dot', () => {
    expect(parsed('10.0.0.1 A.Test.', '10.0.0.2 a.test')).toEqual({ 'a.test': ['10.0.0.1', '10.0.0.2'] })
  })

  it.each([
    'nonsense',
    '10.0.0',
    '10.0.0.256',
    '010.0.0.1',
    '10.0.0.1/8',
    'fe80::1%lo',
    '[::1]',
    'a 10.0.0.1',
  ])('skips a line that starts with %s, and reads the others', (address) => {
    expect(parsed('10.0.0.1 before', `${address} skipped`, '10.0.0.2 after')).toEqual({
      before: ['10.0.0.1'],
      after: ['10.0.0.2'],
    })
  })

  it('skips an address without names', () => {
    expect(parsed('10.0.0.1', '10.0.0.2 # a')).toEqual({})
  })

  it('knows names that every object has', () => {
    const hosts = parseHostsFile('10.0.0.1 constructor')
    expect(hosts.get('constructor')).toEqual(['10.0.0.1'])
    expect(hosts.get('tostring')).toBeUndefined()
  })

  it('reads back whatever was written', () => {
    const line = fc.record({
      address: fc.oneof(fc.ipV4(), fc.constantFrom('::1', 'fd00::2')),
      names: fc.array(fc.constantFrom('a', 'b.test', 'c-d'), { minLength: 1, maxLength: 3 }),
      gap: fc.constantFrom(' ', '\t', '  \t'),
      end: fc.constantFrom('\n', '\r\n', ' # x 10.9.9.9 a\n', '\n# 10.9.9.9 a\n', '\nnonsense a\n'),
    })
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
        const text = lines.map(({ address, names, gap, end }) => [address, ...names].join(gap) + end).join('')
        const expected: Record<string, string[]> = {}
        for (const { address, names } of lines) {
          for (const name of names) {
            expected[name] ??= []
            expected[name].push(address)
          }
        }
        expect(Object.fromEntries(parseHostsFile(text))).toEqual(expected)
      }),
      { numRuns: 100 },
    )
  })
})

describe('defaultHostsFile', () => {
  const platform = Object.getOwnPropertyDescriptor(process, 'platform')!
  const pathOn = (value: string, systemRoot: string | undefined) => {
    vi.stubEnv('SystemRoot', systemRoot)
    Object.defineProperty(process, 'platform', { ...platform, value })
    return defaultHostsFile()
  }
  afterEach(() => {
    Object.defineProperty(process, 'platform', platform)
    vi.unstubAllEnvs()
  })

  it.each([
    ['linux', undefined, '/etc/hosts'],
    ['darwin', 'C:\\Windows', '/etc/hosts'],
    ['win32', 'D:\\Win', 'D:\\Win\\System32\\drivers\\etc\\hosts'],
    ['win32', undefined, '/etc/hosts'],
    ['win32', '', '/etc/hosts'],
  ])('on %s with the system root %s is %s', (name, systemRoot, path) => {
    expect(pathOn(name, systemRoot)).toBe(path)
  })
})

describe('a lookup in a hosts file', () => {
  let folder: string
  let path: string
  let nowMs: number
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hosts-file-'))
    path = join(folder, 'hosts')
    nowMs = 0
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    rmSync(folder, { recursive: true })
  })
  /** Writes the file with a modification time, so that no change depends on the resolution of the clock. */
  const write = (text: string, modifiedSeconds = 1) => {
    writeFileSync(path, text)
    utimesSync(path, modifiedSeconds, modifiedSeconds)
  }
  const passInterval = () => {
    nowMs += CHECK_INTERVAL_MS + 1
  }

  it('finds the addresses of a name in any spelling, and none of others', () => {
    write('10.0.0.1 Inside.Test\n::1 inside.test\n')
    const lookup = createHostsFileLookup(path)
    for (const name of ['inside.test', 'INSIDE.test', 'inside.test.']) {
      expect([name, lookup(name)]).toEqual([name, ['10.0.0.1', '::1']])
    }
    for (const name of ['test', 'a.inside.test', '']) expect([name, lookup(name)]).toEqual([name, []])
  })

  it('reads the file at the first lookup, not before', () => {
    write('10.0.0.1 a\n')
    const lookup = createHostsFileLookup(path)
    write('10.0.0.2 a\n', 2)
    expect(lookup('a')).toEqual(['10.0.0.2'])
  })

  it('checks the file again after more than a second', () => {
    write('10.0.0.1 a\n')
    nowMs = 500
    const lookup = createHostsFileLookup(path)
    expect(lookup('a')).toEqual(['10.0.0.1'])
    write('10.0.0.2 a\n', 2)
    nowMs = 500 + CHECK_INTERVAL_MS
    expect(lookup('a')).toEqual(['10.0.0.1'])
    nowMs += 1
    expect(lookup('a')).toEqual(['10.0.0.2'])
  })

  it('counts the second from the last check, whether the file had changed or not', () => {
    write('10.0.0.1 a\n')
    const lookup = createHostsFileLookup(path)
    lookup('a')
    passInterval()
    lookup('a')
    write('10.0.0.2 a\n', 2)
    nowMs += CHECK_INTERVAL_MS
    expect(lookup('a')).toEqual(['10.0.0.1'])
    nowMs += 1
    expect(lookup('a')).toEqual(['10.0.0.2'])
  })

  it('looks for a missing file at most once a second too', () => {
    const lookup = createHostsFileLookup(path)
    expect(lookup('a')).toEqual([])
    write('10.0.0.1 a\n')
    nowMs = CHECK_INTERVAL_MS
    expect(lookup('a')).toEqual([])
    nowMs += 1
    expect(lookup('a')).toEqual(['10.0.0.1'])
  })

  it('does not read an unchanged file again', () => {
    write('10.0.0.1 a\n')
    const lookup = createHostsFileLookup(path)
    const before = lookup('a')
    passInterval()
    expect(lookup('a')).toBe(before)
    // The same text, written later: it is read again.
    write('10.0.0.1 a\n', 2)
    passInterval()
    expect(lookup('a')).toEqual(before)
    expect(lookup('a')).not.toBe(before)
  })

  it('notices a file that was put in its place with the same size and time', () => {
    write('10.0.0.1 a\n')
    const lookup = createHostsFileLookup(path)
    expect(lookup('a')).toEqual(['10.0.0.1'])
    const successor = join(folder, 'successor')
    writeFileSync(successor, '10.0.0.2 a\n')
    utimesSync(successor, 1, 1)
    renameSync(successor, path)
    passInterval()
    expect(lookup('a')).toEqual(['10.0.0.2'])
  })

  it('reads a file of 1 MiB, and treats a larger one as empty until it is small again', () => {
    const line = '10.0.0.1 a\n'
    write(line + '#'.repeat(MAX_BYTES - line.length))
    const lookup = createHostsFileLookup(path)
    expect(lookup('a')).toEqual(['10.0.0.1'])
    write(line + '#'.repeat(MAX_BYTES - line.length + 1), 2)
    passInterval()
    expect(lookup('a')).toEqual([])
    passInterval()
    expect(lookup('a')).toEqual([])
    write('10.0.0.3 a\n', 3)
    passInterval()
    expect(lookup('a')).toEqual(['10.0.0.3'])
  })

  it('forgets a file that was deleted, and reads it when it is back unchanged', () => {
    write('10.0.0.1 a\n')
    const lookup = createHostsFileLookup(path)
    expect(lookup('a')).toEqual(['10.0.0.1'])
    const aside = join(folder, 'aside')
    renameSync(path, aside)
    passInterval()
    expect(lookup('a')).toEqual([])
    renameSync(aside, path)
    passInterval()
    expect(lookup('a')).toEqual(['10.0.0.1'])
  })

  it('treats what cannot be read as empty, until it can be read', () => {
    write('10.0.0.1 a\n')
    const lookup = createHostsFileLookup(path)
    expect(lookup('a')).toEqual(['10.0.0.1'])
    rmSync(path)
    mkdirSync(path)
    passInterval()
    expect(lookup('a')).toEqual([])
    rmdirSync(path)
    write('10.0.0.2 a\n', 2)
    passInterval()
    expect(lookup('a')).toEqual(['10.0.0.2'])
  })
})
