import { HookswitchError } from '../errors.js'

/** The oldest Node that works: `engines` of package.json. */
const MINIMUM_NODE = '20.19'

/**
 * @param version as in `process.versions.node`; `undefined`: another runtime
 * @throws `Unsupported` for a version below the minimum
 */
export function checkNodeVersion(version: string | undefined): void {
  if (version === undefined) return
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [minMajor = 0, minMinor = 0] = MINIMUM_NODE.split('.').map(Number)
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return
  throw new HookswitchError(
    'Unsupported',
    `hookswitch needs Node ${MINIMUM_NODE} or later, and this is Node ${version}`,
  )
}
