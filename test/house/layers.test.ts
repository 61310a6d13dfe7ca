import { describe, expect, it } from 'vitest'
import { importsOf, sourceFiles } from './sources.js'

/**
 * The layers as data: a folder of `src` may import these folders and files of `src`, and nothing else of it.
 * Neighbours never see each other; nothing calls upward.
 */
const BELOW = ['src/values', 'src/errors.ts', 'src/ports.ts', 'src/events.ts', 'src/metrics.ts']
const NOUNS = ['src/accounts', ...BELOW]
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/values': [],
  'src/errors.ts': [],
  'src/ports.ts': [],
  'src/metrics.ts': [],
  'src/events.ts': [],
  'src/accounts': BELOW,
  'src/auth': NOUNS,
  'src/webhooks': NOUNS,
  'src/send': BELOW,
  'src/delivery': ['src/webhooks', ...NOUNS],
  'src/store': ['src/delivery', 'src/webhooks', 'src/auth', ...NOUNS],
  'src/wire': ['src/delivery', 'src/webhooks', 'src/auth', ...NOUNS],
  'src/option-checks.ts': BELOW,
  'src/option-values.ts': [
    'src/options.ts',
    'src/option-checks.ts',
    'src/delivery',
    'src/webhooks',
    ...NOUNS,
  ],
  'src/options.ts': ['src/delivery', 'src/webhooks', 'src/auth', ...NOUNS],
  'src/check-options.ts': [
    'src/options.ts',
    'src/option-checks.ts',
    'src/option-values.ts',
    'src/delivery',
    'src/webhooks',
    'src/auth',
    ...NOUNS,
  ],
  'src/http': ['src/wire', 'src/delivery', 'src/webhooks', 'src/auth', ...NOUNS],
}

/** Packages that a layer may use. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'src/values': ['ipaddr.js'],
  'src/events.ts': ['eventemitter3'],
  'src/accounts': ['lru-cache'],
  'src/auth': ['lru-cache', 'ipaddr.js', 'nanoid'],
  'src/delivery': ['lru-cache'],
  'src/send': ['undici'],
  'src/http': ['ipaddr.js'],
}

const layerOf = (path: string) => {
  const [, second, third] = path.split('/')
  return third === undefined ? `src/${second}` : `src/${second}`
}
/** The root files, and the testkit above them: they may import all of `src`. */
const isRoot = (layer: string) => layer === 'src/testkit' || (layer.endsWith('.ts') && !(layer in MAY_IMPORT))
const isOurs = (name: string) =>
  name.startsWith('src/') || name.startsWith('adapters/') || name.startsWith('test/')

describe('the layers of src', () => {
  for (const path of sourceFiles('src')) {
    const layer = layerOf(path)
    if (isRoot(layer)) continue
    it(`${path} imports only what is below it`, () => {
      const allowed = MAY_IMPORT[layer]
      expect(allowed, `${layer} has no row in the table`).toBeDefined()
      const wrong = importsOf(path).filter((name) => {
        if (isOurs(name)) return layerOf(name) !== layer && !allowed!.includes(layerOf(name))
        return !name.startsWith('node:') && !(PACKAGES[layer] ?? []).includes(name)
      })
      expect(wrong).toEqual([])
    })
  }

  it('knows the root files as the one place that knows everything', () => {
    for (const path of sourceFiles('src')) {
      if (isRoot(layerOf(path))) continue
      const up = importsOf(path).filter((name) => name.startsWith('src/') && isRoot(layerOf(name)))
      expect(up, path).toEqual([])
    }
  })

  it('has no circle of files', () => {
    const files = sourceFiles('src', 'adapters')
    const edges = new Map(files.map((path) => [path, importsOf(path).filter((name) => files.includes(name))]))
    const done = new Set<string>()
    const visit = (path: string, way: readonly string[]): void => {
      if (way.includes(path))
        throw new Error(`circle: ${[...way.slice(way.indexOf(path)), path].join(' → ')}`)
      if (done.has(path)) return
      for (const next of edges.get(path)!) visit(next, [...way, path])
      done.add(path)
    }
    for (const path of files) visit(path, [])
  })
})

describe('the testkit', () => {
  it('is imported by nothing but tests and examples', () => {
    const users = sourceFiles('src', 'adapters').filter((path) => !path.startsWith('src/testkit/'))
    const found = users.filter((path) =>
      importsOf(path).some((name) => /^(src\/testkit|hookswitch\/testkit)/.test(name)),
    )
    expect(found).toEqual([])
  })
})

describe('the adapters', () => {
  /** Express is a way to mount the node handler; the program puts several adapters together. */
  const MAY_USE: Readonly<Record<string, readonly string[]>> = {
    'adapters/http': ['hookswitch'],
    'adapters/telephony': ['hookswitch'],
    'adapters/storage': ['hookswitch', 'hookswitch/store'],
    'adapters/observability': ['hookswitch'],
    'adapters/cli': [
      'hookswitch',
      'hookswitch/node',
      'hookswitch/prometheus',
      'hookswitch/sqlite',
      'hookswitch/postgres',
      'hookswitch/freeswitch',
      'hookswitch/asterisk',
      'hookswitch/kamailio',
    ],
  }
  /** What adapters adapt to. */
  const DRIVERS = ['express', 'fastify', '@opentelemetry/api', 'pg', '@photostructure/sqlite', 'undici']
  for (const path of sourceFiles('adapters')) {
    it(`${path} imports the package by its public name only`, () => {
      const folder = path.split('/').slice(0, 2).join('/')
      const wrong = importsOf(path).filter((name) => {
        if (isOurs(name)) return !name.startsWith(`${folder}/`)
        if (name.startsWith('hookswitch')) return !MAY_USE[folder]!.includes(name)
        return !name.startsWith('node:') && name !== 'lru-cache' && !DRIVERS.includes(name)
      })
      expect(wrong).toEqual([])
    })
  }
})
