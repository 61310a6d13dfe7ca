/** The simulator: nodes, receivers, hosts and clients in virtual time, and everything that can go wrong. */

export { uncovered } from './coverage.js'
export type { Doctor } from './doctor.js'
export { type Exhausted, exhaust } from './exhaustive.js'
export { FAULT_KINDS, type Fault, type FaultKind } from './faults.js'
export type { Finding } from './finding.js'
export { type Minimised, minimise } from './minimise.js'
export type { SimulationOptions } from './options.js'
export { replayCommand, reportOf } from './report.js'
export { type Simulation, simulate } from './simulate.js'
