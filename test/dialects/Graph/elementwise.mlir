// RUN: weft-opt %s | weft-opt | FileCheck %s

// CHECK-LABEL: func @unary
func.func @unary(%a0: tensor<2x3xf32>, %a1: tensor<3xi1>, %a2: tensor<4xbf16>, %a3: tensor<5xui8>, %a4: tensor<6xi32>) {
  // CHECK: weft.exponential %{{.*}} : tensor<2x3xf32>{{$}}
  %0 = weft.exponential %a0 : tensor<2x3xf32>
  // CHECK: weft.exponential %{{.*}} : tensor<4xbf16>{{$}}
  %1 = weft.exponential %a2 : tensor<4xbf16>
  // CHECK: weft.exponential_minus_one %{{.*}} : tensor<2x3xf32>{{$}}
  %2 = weft.exponential_minus_one %a0 : tensor<2x3xf32>
  // CHECK: weft.exponential_minus_one %{{.*}} : tensor<4xbf16>{{$}}
  %3 = weft.exponential_minus_one %a2 : tensor<4xbf16>
  // CHECK: weft.log %{{.*}} : tensor<2x3xf32>{{$}}
  %4 = weft.log %a0 : tensor<2x3xf32>
  // CHECK: weft.log %{{.*}} : tensor<4xbf16>{{$}}
  %5 = weft.log %a2 : tensor<4xbf16>
  // CHECK: weft.log_plus_one %{{.*}} : tensor<2x3xf32>{{$}}
  %6 = weft.log_plus_one %a0 : tensor<2x3xf32>
  // CHECK: weft.log_plus_one %{{.*}} : tensor<4xbf16>{{$}}
  %7 = weft.log_plus_one %a2 : tensor<4xbf16>
  // CHECK: weft.sqrt %{{.*}} : tensor<2x3xf32>{{$}}
  %8 = weft.sqrt %a0 : tensor<2x3xf32>
  // CHECK: weft.sqrt %{{.*}} : tensor<4xbf16>{{$}}
  %9 = weft.sqrt %a2 : tensor<4xbf16>
  // CHECK: weft.rsqrt %{{.*}} : tensor<2x3xf32>{{$}}
  %10 = weft.rsqrt %a0 : tensor<2x3xf32>
  // CHECK: weft.rsqrt %{{.*}} : tensor<4xbf16>{{$}}
  %11 = weft.rsqrt %a2 : tensor<4xbf16>
  // CHECK: weft.cbrt %{{.*}} : tensor<2x3xf32>{{$}}
  %12 = weft.cbrt %a0 : tensor<2x3xf32>
  // CHECK: weft.cbrt %{{.*}} : tensor<4xbf16>{{$}}
  %13 = weft.cbrt %a2 : tensor<4xbf16>
  // CHECK: weft.sine %{{.*}} : tensor<2x3xf32>{{$}}
  %14 = weft.sine %a0 : tensor<2x3xf32>
  // CHECK: weft.sine %{{.*}} : tensor<4xbf16>{{$}}
  %15 = weft.sine %a2 : tensor<4xbf16>
  // CHECK: weft.cosine %{{.*}} : tensor<2x3xf32>{{$}}
  %16 = weft.cosine %a0 : tensor<2x3xf32>
  // CHECK: weft.cosine %{{.*}} : tensor<4xbf16>{{$}}
  %17 = weft.cosine %a2 : tensor<4xbf16>
  // CHECK: weft.tan %{{.*}} : tensor<2x3xf32>{{$}}
  %18 = weft.tan %a0 : tensor<2x3xf32>
  // CHECK: weft.tan %{{.*}} : tensor<4xbf16>{{$}}
  %19 = weft.tan %a2 : tensor<4xbf16>
  // CHECK: weft.asin %{{.*}} : tensor<2x3xf32>{{$}}
  %20 = weft.asin %a0 : tensor<2x3xf32>
  // CHECK: weft.asin %{{.*}} : tensor<4xbf16>{{$}}
  %21 = weft.asin %a2 : tensor<4xbf16>
  // CHECK: weft.acos %{{.*}} : tensor<2x3xf32>{{$}}
  %22 = weft.acos %a0 : tensor<2x3xf32>
  // CHECK: weft.acos %{{.*}} : tensor<4xbf16>{{$}}
  %23 = weft.acos %a2 : tensor<4xbf16>
  // CHECK: weft.atan %{{.*}} : tensor<2x3xf32>{{$}}
  %24 = weft.atan %a0 : tensor<2x3xf32>
  // CHECK: weft.atan %{{.*}} : tensor<4xbf16>{{$}}
  %25 = weft.atan %a2 : tensor<4xbf16>
  // CHECK: weft.sinh %{{.*}} : tensor<2x3xf32>{{$}}
  %26 = weft.sinh %a0 : tensor<2x3xf32>
  // CHECK: weft.sinh %{{.*}} : tensor<4xbf16>{{$}}
  %27 = weft.sinh %a2 : tensor<4xbf16>
  // CHECK: weft.cosh %{{.*}} : tensor<2x3xf32>{{$}}
  %28 = weft.cosh %a0 : tensor<2x3xf32>
  // CHECK: weft.cosh %{{.*}} : tensor<4xbf16>{{$}}
  %29 = weft.cosh %a2 : tensor<4xbf16>
  // CHECK: weft.tanh %{{.*}} : tensor<2x3xf32>{{$}}
  %30 = weft.tanh %a0 : tensor<2x3xf32>
  // CHECK: weft.tanh %{{.*}} : tensor<4xbf16>{{$}}
  %31 = weft.tanh %a2 : tensor<4xbf16>
  // CHECK: weft.asinh %{{.*}} : tensor<2x3xf32>{{$}}
  %32 = weft.asinh %a0 : tensor<2x3xf32>
  // CHECK: weft.asinh %{{.*}} : tensor<4xbf16>{{$}}
  %33 = weft.asinh %a2 : tensor<4xbf16>
  // CHECK: weft.acosh %{{.*}} : tensor<2x3xf32>{{$}}
  %34 = weft.acosh %a0 : tensor<2x3xf32>
  // CHECK: weft.acosh %{{.*}} : tensor<4xbf16>{{$}}
  %35 = weft.acosh %a2 : tensor<4xbf16>
  // CHECK: weft.atanh %{{.*}} : tensor<2x3xf32>{{$}}
  %36 = weft.atanh %a0 : tensor<2x3xf32>
  // CHECK: weft.atanh %{{.*}} : tensor<4xbf16>{{$}}
  %37 = weft.atanh %a2 : tensor<4xbf16>
  // CHECK: weft.logistic %{{.*}} : tensor<2x3xf32>{{$}}
  %38 = weft.logistic %a0 : tensor<2x3xf32>
  // CHECK: weft.logistic %{{.*}} : tensor<4xbf16>{{$}}
  %39 = weft.logistic %a2 : tensor<4xbf16>
  // CHECK: weft.erf %{{.*}} : tensor<2x3xf32>{{$}}
  %40 = weft.erf %a0 : tensor<2x3xf32>
  // CHECK: weft.erf %{{.*}} : tensor<4xbf16>{{$}}
  %41 = weft.erf %a2 : tensor<4xbf16>
  // CHECK: weft.floor %{{.*}} : tensor<2x3xf32>{{$}}
  %42 = weft.floor %a0 : tensor<2x3xf32>
  // CHECK: weft.floor %{{.*}} : tensor<4xbf16>{{$}}
  %43 = weft.floor %a2 : tensor<4xbf16>
  // CHECK: weft.ceil %{{.*}} : tensor<2x3xf32>{{$}}
  %44 = weft.ceil %a0 : tensor<2x3xf32>
  // CHECK: weft.ceil %{{.*}} : tensor<4xbf16>{{$}}
  %45 = weft.ceil %a2 : tensor<4xbf16>
  // CHECK: weft.round_nearest_even %{{.*}} : tensor<2x3xf32>{{$}}
  %46 = weft.round_nearest_even %a0 : tensor<2x3xf32>
  // CHECK: weft.round_nearest_even %{{.*}} : tensor<4xbf16>{{$}}
  %47 = weft.round_nearest_even %a2 : tensor<4xbf16>
  // CHECK: weft.round_nearest_afz %{{.*}} : tensor<2x3xf32>{{$}}
  %48 = weft.round_nearest_afz %a0 : tensor<2x3xf32>
  // CHECK: weft.round_nearest_afz %{{.*}} : tensor<4xbf16>{{$}}
  %49 = weft.round_nearest_afz %a2 : tensor<4xbf16>
  // CHECK: weft.abs %{{.*}} : tensor<2x3xf32>{{$}}
  %50 = weft.abs %a0 : tensor<2x3xf32>
  // CHECK: weft.abs %{{.*}} : tensor<5xui8>{{$}}
  %51 = weft.abs %a3 : tensor<5xui8>
  // CHECK: weft.negate %{{.*}} : tensor<2x3xf32>{{$}}
  %52 = weft.negate %a0 : tensor<2x3xf32>
  // CHECK: weft.negate %{{.*}} : tensor<5xui8>{{$}}
  %53 = weft.negate %a3 : tensor<5xui8>
  // CHECK: weft.sign %{{.*}} : tensor<2x3xf32>{{$}}
  %54 = weft.sign %a0 : tensor<2x3xf32>
  // CHECK: weft.sign %{{.*}} : tensor<5xui8>{{$}}
  %55 = weft.sign %a3 : tensor<5xui8>
  // CHECK: weft.popcnt %{{.*}} : tensor<6xi32>{{$}}
  %56 = weft.popcnt %a4 : tensor<6xi32>
  // CHECK: weft.popcnt %{{.*}} : tensor<5xui8>{{$}}
  %57 = weft.popcnt %a3 : tensor<5xui8>
  // CHECK: weft.count_leading_zeros %{{.*}} : tensor<6xi32>{{$}}
  %58 = weft.count_leading_zeros %a4 : tensor<6xi32>
  // CHECK: weft.count_leading_zeros %{{.*}} : tensor<5xui8>{{$}}
  %59 = weft.count_leading_zeros %a3 : tensor<5xui8>
  // CHECK: weft.not %{{.*}} : tensor<6xi32>{{$}}
  %60 = weft.not %a4 : tensor<6xi32>
  // CHECK: weft.not %{{.*}} : tensor<3xi1>{{$}}
  %61 = weft.not %a1 : tensor<3xi1>
  return
}

// CHECK-LABEL: func @binary
func.func @binary(%a0: tensor<2x3xf32>, %a1: tensor<3xi1>, %a2: tensor<4xbf16>, %a3: tensor<5xui8>, %a4: tensor<6xi32>) {
  // CHECK: weft.add %{{.*}} : tensor<2x3xf32>{{$}}
  %0 = weft.add %a0, %a0 : tensor<2x3xf32>
  // CHECK: weft.add %{{.*}} : tensor<6xi32>{{$}}
  %1 = weft.add %a4, %a4 : tensor<6xi32>
  // CHECK: weft.subtract %{{.*}} : tensor<2x3xf32>{{$}}
  %2 = weft.subtract %a0, %a0 : tensor<2x3xf32>
  // CHECK: weft.subtract %{{.*}} : tensor<6xi32>{{$}}
  %3 = weft.subtract %a4, %a4 : tensor<6xi32>
  // CHECK: weft.multiply %{{.*}} : tensor<2x3xf32>{{$}}
  %4 = weft.multiply %a0, %a0 : tensor<2x3xf32>
  // CHECK: weft.multiply %{{.*}} : tensor<6xi32>{{$}}
  %5 = weft.multiply %a4, %a4 : tensor<6xi32>
  // CHECK: weft.divide %{{.*}} : tensor<2x3xf32>{{$}}
  %6 = weft.divide %a0, %a0 : tensor<2x3xf32>
  // CHECK: weft.divide %{{.*}} : tensor<6xi32>{{$}}
  %7 = weft.divide %a4, %a4 : tensor<6xi32>
  // CHECK: weft.remainder %{{.*}} : tensor<2x3xf32>{{$}}
  %8 = weft.remainder %a0, %a0 : tensor<2x3xf32>
  // CHECK: weft.remainder %{{.*}} : tensor<6xi32>{{$}}
  %9 = weft.remainder %a4, %a4 : tensor<6xi32>
  // CHECK: weft.power %{{.*}} : tensor<2x3xf32>{{$}}
  %10 = weft.power %a0, %a0 : tensor<2x3xf32>
  // CHECK: weft.power %{{.*}} : tensor<6xi32>{{$}}
  %11 = weft.power %a4, %a4 : tensor<6xi32>
  // CHECK: weft.maximum %{{.*}} : tensor<2x3xf32>{{$}}
  %12 = weft.maximum %a0, %a0 : tensor<2x3xf32>
  // CHECK: weft.maximum %{{.*}} : tensor<6xi32>{{$}}
  %13 = weft.maximum %a4, %a4 : tensor<6xi32>
  // CHECK: weft.minimum %{{.*}} : tensor<2x3xf32>{{$}}
  %14 = weft.minimum %a0, %a0 : tensor<2x3xf32>
  // CHECK: weft.minimum %{{.*}} : tensor<6xi32>{{$}}
  %15 = weft.minimum %a4, %a4 : tensor<6xi32>
  // CHECK: weft.atan2 %{{.*}} : tensor<2x3xf32>{{$}}
  %16 = weft.atan2 %a0, %a0 : tensor<2x3xf32>
  // CHECK: weft.atan2 %{{.*}} : tensor<4xbf16>{{$}}
  %17 = weft.atan2 %a2, %a2 : tensor<4xbf16>
  // CHECK: weft.and %{{.*}} : tensor<6xi32>{{$}}
  %18 = weft.and %a4, %a4 : tensor<6xi32>
  // CHECK: weft.and %{{.*}} : tensor<3xi1>{{$}}
  %19 = weft.and %a1, %a1 : tensor<3xi1>
  // CHECK: weft.or %{{.*}} : tensor<6xi32>{{$}}
  %20 = weft.or %a4, %a4 : tensor<6xi32>
  // CHECK: weft.or %{{.*}} : tensor<3xi1>{{$}}
  %21 = weft.or %a1, %a1 : tensor<3xi1>
  // CHECK: weft.xor %{{.*}} : tensor<6xi32>{{$}}
  %22 = weft.xor %a4, %a4 : tensor<6xi32>
  // CHECK: weft.xor %{{.*}} : tensor<3xi1>{{$}}
  %23 = weft.xor %a1, %a1 : tensor<3xi1>
  // CHECK: weft.shift_left %{{.*}} : tensor<6xi32>{{$}}
  %24 = weft.shift_left %a4, %a4 : tensor<6xi32>
  // CHECK: weft.shift_left %{{.*}} : tensor<5xui8>{{$}}
  %25 = weft.shift_left %a3, %a3 : tensor<5xui8>
  // CHECK: weft.shift_right_arithmetic %{{.*}} : tensor<6xi32>{{$}}
  %26 = weft.shift_right_arithmetic %a4, %a4 : tensor<6xi32>
  // CHECK: weft.shift_right_arithmetic %{{.*}} : tensor<5xui8>{{$}}
  %27 = weft.shift_right_arithmetic %a3, %a3 : tensor<5xui8>
  // CHECK: weft.shift_right_logical %{{.*}} : tensor<6xi32>{{$}}
  %28 = weft.shift_right_logical %a4, %a4 : tensor<6xi32>
  // CHECK: weft.shift_right_logical %{{.*}} : tensor<5xui8>{{$}}
  %29 = weft.shift_right_logical %a3, %a3 : tensor<5xui8>
  return
}

// CHECK-LABEL: func @others
func.func @others(%x: tensor<2x3xf32>, %n: tensor<2x3xi32>, %p: tensor<2x3xi1>) {
  // CHECK: weft.is_finite %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %0 = weft.is_finite %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: weft.compare LT, %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %1 = weft.compare LT, %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: weft.compare NE, %{{.*}} : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %2 = weft.compare NE, %p, %p : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  // CHECK: weft.select %{{.*}} : (tensor<2x3xi1>, tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %3 = weft.select %p, %n, %n : (tensor<2x3xi1>, tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  // CHECK: weft.clamp %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %4 = weft.clamp %x, %x, %x : tensor<2x3xf32>
  // CHECK: weft.convert %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xui8>
  %5 = weft.convert %x : (tensor<2x3xf32>) -> tensor<2x3xui8>
  // CHECK: weft.bitcast_convert %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %6 = weft.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3xi32>
  return
}
