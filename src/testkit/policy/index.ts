export {
  type CourseAttempt,
  type CourseFailure,
  type CourseOptions,
  courseOf,
  type RetryCourse,
} from './course-of.js'
export type { Arbitrary, PropertyChecker } from './property-checker.js'
export { type PolicyPromises, type PolicyRunner, provePolicy } from './prove-policy.js'
export type { AnyPolicy } from './retry-policy.js'
