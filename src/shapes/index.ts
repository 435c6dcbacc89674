// The package's entry `urlsieve/shapes`: kinds of URLs.
export type { Form } from './forms.ts'
export type { HostShapes, ReportOptions, Shape, ShapesReport } from './shape-report.ts'
export type { ShapeTreeOptions } from './shape-tree.ts'
export { Shapes } from './shapes.ts'
export type { Place, Trap, TrapKind } from './traps.ts'
