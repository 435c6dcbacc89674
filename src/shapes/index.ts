// The package's entry `urlsieve/shapes`: kinds of URLs.
export type { Form } from './forms.ts'
export {
  type LimitedExplanation,
  type LimitedOptions,
  LimitedSieve,
  type LimitedStats,
} from './limited-sieve.ts'
export { ASSETS, type Drop, type LimitName, type ShapeLimitOptions, ShapeLimits } from './shape-limits.ts'
export type { HostShapes, ReportOptions, Shape, ShapesReport } from './shape-report.ts'
export { Shapes, type ShapesOptions } from './shapes.ts'
export { stripRule } from './strip-rule.ts'
export type { Place, Trap, TrapKind } from './traps.ts'
